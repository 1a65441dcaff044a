// Command gin is the service that most teams would write for the same interface: Gin, GORM and SQLite, tuned as far as
// their documentation tells. It has no keys and no limits.
package main

import (
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/gin-gonic/gin"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Pet is an animal, in the table and in answers.
type Pet struct {
	ID         int64  `json:"id" gorm:"primaryKey;autoIncrement"`
	Name       string `json:"name" gorm:"not null" binding:"required,max=1000"`
	CategoryID int64  `json:"categoryId" gorm:"not null" binding:"required"`
	Status     string `json:"status" gorm:"not null;index" binding:"oneof=available pending sold"`
}

// Durable: the log is synced at every commit, as petstore's is.
const settings = "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000"

func main() {
	address, file, rows := os.Args[1], os.Args[2], os.Args[3]
	writer, err := open(file, 1)
	if err != nil {
		log.Fatal(err)
	}
	if err := fill(writer, rows); err != nil {
		log.Fatal(err)
	}
	reader, err := open(file, 8)
	if err != nil {
		log.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	router := gin.Default()
	router.GET("/v1/pets", list(reader))
	router.GET("/v1/pets/:id", get(reader))
	router.POST("/v1/pets", create(writer))
	log.Fatal(router.Run(address))
}

func open(file string, connections int) (*gorm.DB, error) {
	db, err := gorm.Open(sqlite.Open("file:"+file+settings), &gorm.Config{
		PrepareStmt:            true,
		SkipDefaultTransaction: true,
		Logger:                 logger.Discard,
	})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return db, nil
}

func fill(db *gorm.DB, rows string) error {
	if err := db.AutoMigrate(&Pet{}); err != nil {
		return err
	}
	return db.Exec(`INSERT INTO pets (name, category_id, status)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST(? AS INTEGER))
		SELECT 'Pet number ' || i, i % 40 + 1, CASE i % 3 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' ELSE 'sold' END FROM n`, rows).Error
}

func list(db *gorm.DB) gin.HandlerFunc {
	return func(c *gin.Context) {
		limit, err := strconv.Atoi(c.DefaultQuery("limit", "20"))
		if err != nil || limit < 1 || limit > 100 {
			c.JSON(http.StatusBadRequest, gin.H{"message": "limit must be from 1 to 100"})
			return
		}
		query := db.WithContext(c).Order("id DESC").Limit(limit)
		if before := c.Query("cursor"); before != "" {
			query = query.Where("id < ?", before)
		}
		var pets []Pet
		if err := query.Find(&pets).Error; err != nil {
			c.JSON(http.StatusInternalServerError, gin.H{"message": err.Error()})
			return
		}
		c.JSON(http.StatusOK, pets)
	}
}

func get(db *gorm.DB) gin.HandlerFunc {
	return func(c *gin.Context) {
		var pet Pet
		if err := db.WithContext(c).Where("id = ?", c.Param("id")).Take(&pet).Error; err != nil {
			c.JSON(http.StatusNotFound, gin.H{"message": err.Error()})
			return
		}
		c.JSON(http.StatusOK, pet)
	}
}

func create(db *gorm.DB) gin.HandlerFunc {
	return func(c *gin.Context) {
		var pet Pet
		if err := c.ShouldBindJSON(&pet); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"message": err.Error()})
			return
		}
		pet.ID = 0
		if err := db.WithContext(c).Create(&pet).Error; err != nil {
			c.JSON(http.StatusInternalServerError, gin.H{"message": err.Error()})
			return
		}
		c.JSON(http.StatusCreated, pet)
	}
}
